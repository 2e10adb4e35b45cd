"""A slot whose visits are gone keeps nothing finer than the slot, whole seconds and hundredths.

A trigger rounds a stream's slots in the transaction that says that their visits are gone. So an answer is exact while
the visits are there and rounded from the same moment on, whichever way they are deleted, also by a recorder of the
release before.

Slots of visits that are gone already are rounded here, in one statement: 500,000 took 31 seconds on a busy machine with
two cores. Nobody else writes to these rows, and reading goes on. A recorder that runs meanwhile waits with deleting
visits.
"""

from django.db import migrations

ROUND_SLOTS = """
-- The reach is rounded up: a range that a visit may lie across is still found by it. Rounding again changes nothing.
CREATE FUNCTION metrics_round_slots(of_stream bigint, from_at timestamptz, to_at timestamptz) RETURNS void
LANGUAGE sql AS $$
    UPDATE metrics_slot SET
        reaches_at = date_bin('15 minutes', reaches_at + interval '15 minutes' - interval '1 microsecond', 'epoch'),
        still_us = round(still_us, -6), looking_us = round(looking_us, -6), balance = round(balance, -7)
    WHERE stream_id = of_stream AND slot_at >= from_at AND slot_at < to_at
$$;
-- Fillers hold the state until they commit. Those before us have written what we round; those after us see that the
-- visits are gone, and fill nothing.
CREATE FUNCTION metrics_round_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM metrics_state FOR UPDATE;
    PERFORM metrics_round_slots(NEW.stream_id, coalesce(OLD.since, '-infinity'), NEW.since);
    RETURN NULL;
END $$;
CREATE TRIGGER metrics_round_gone AFTER INSERT OR UPDATE ON visits_kept
    FOR EACH ROW EXECUTE FUNCTION metrics_round_gone();
SELECT metrics_round_slots(stream_id, '-infinity', since) FROM visits_kept;
"""
# What was rounded stays rounded.
UNDO = """
DROP TRIGGER metrics_round_gone ON visits_kept;
DROP FUNCTION metrics_round_gone();
DROP FUNCTION metrics_round_slots(bigint, timestamptz, timestamptz);
"""


class Migration(migrations.Migration):

    dependencies = [('metrics', '0001_initial'), ('visits', '0002_marks')]

    operations = [migrations.RunSQL(ROUND_SLOTS, UNDO)]
