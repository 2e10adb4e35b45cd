"""Assignment at the least total cost: the Hungarian method, on each independent group of pairs."""

from collections.abc import Sequence

INFINITE = float("inf")


def assign(costs: Sequence[Sequence[float]]) -> dict[int, int]:
    """Column for each assigned row: as many as possible, at the least cost; an infinite cost is never chosen."""
    chosen: dict[int, int] = {}
    for rows, columns in _groups(costs):
        chosen |= _assign_group(costs, rows, columns)
    return chosen


def _groups(costs: Sequence[Sequence[float]]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns that are linked by possible pairs; people are mostly far apart."""
    rows_of: dict[int, list[int]] = {}
    for row, line in enumerate(costs):
        for column, cost in enumerate(line):
            if cost < INFINITE:
                rows_of.setdefault(column, []).append(row)
    group_of = list(range(len(costs)))

    def leader(row: int) -> int:
        while group_of[row] != row:
            row = group_of[row]
        return row

    for rows in rows_of.values():
        for row in rows[1:]:
            group_of[leader(row)] = leader(rows[0])
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for row in range(len(costs)):
        groups.setdefault(leader(row), ([], []))[0].append(row)
    for column, rows in rows_of.items():
        groups[leader(rows[0])][1].append(column)
    return [group for group in groups.values() if group[1]]


def _assign_group(costs: Sequence[Sequence[float]], rows: list[int], columns: list[int]) -> dict[int, int]:
    if len(rows) == len(columns) == 1:
        return {rows[0]: columns[0]}
    transposed = len(rows) > len(columns)
    short, long = (columns, rows) if transposed else (rows, columns)
    finite = [cost for row in rows for column in columns if (cost := costs[row][column]) < INFINITE]
    refused = (max(finite) + 1) * (len(short) + 1)
    table = [[min(costs[b][a] if transposed else costs[a][b], refused) for b in long] for a in short]
    pairs = ((short[i], long[j]) for i, j in enumerate(_cheapest(table)))
    turned = ((b, a) if transposed else (a, b) for a, b in pairs)
    return {row: column for row, column in turned if costs[row][column] < INFINITE}


def _cheapest(table: list[list[float]]) -> list[int]:
    """Column for each row of a table that has no more rows than columns; shortest augmenting paths."""
    width = len(table[0])
    row_price, column_price = [0.0] * (len(table) + 1), [0.0] * (width + 1)
    row_of, came_from = [0] * (width + 1), [0] * (width + 1)
    for number in range(1, len(table) + 1):
        row_of[0], column = number, 0
        least, visited = [INFINITE] * (width + 1), [False] * (width + 1)
        while row_of[column]:
            visited[column] = True
            row, step, following = row_of[column], INFINITE, 0
            for other in range(1, width + 1):
                if visited[other]:
                    continue
                reduced = table[row - 1][other - 1] - row_price[row] - column_price[other]
                if reduced < least[other]:
                    least[other], came_from[other] = reduced, column
                if least[other] < step:
                    step, following = least[other], other
            for other in range(width + 1):
                if visited[other]:
                    row_price[row_of[other]] += step
                    column_price[other] -= step
                else:
                    least[other] -= step
            column = following
        while column:
            row_of[column], column = row_of[came_from[column]], came_from[column]
    columns = [0] * len(table)
    for column in range(1, width + 1):
        if row_of[column]:
            columns[row_of[column] - 1] = column - 1
    return columns
