// Writes every dashboard as a TypeScript value of Grafana's type, which the compiler then checks: names and types of
// all members, and for each panel its options and its fields by its kind. Members that the type lacks are errors.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folders = process.argv[2] ? [process.argv[2]] : [join(here, "..", "dashboards"), join(here, "..", "analysts")];
const kinds = { timeseries: "TimeSeries", stat: "Stat" };

const lines = [
    'import type { Dashboard, DataQuery } from "@grafana/schema";',
    ...Object.entries(kinds).map(
        ([kind, name]) =>
            `import type * as ${name} from "@grafana/schema/dist/esm/raw/composable/${kind}/panelcfg/x/${name}PanelCfg_types.gen";`,
    ),
    "// In JSON, a member of an enumeration is its value.",
    "type Plain<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;",
];
// What the data sources add to Grafana's own type.
const prometheus = "DataQuery & { expr: string; legendFormat: string }";
const infinity = `DataQuery & {
    type: "csv"; source: "url"; parser: "backend"; format: "timeseries"; root_selector: string; url: string;
    url_options: { method: "GET"; data: string; params: { key: string; value: string }[] };
    columns: { selector: string; text: string; type: "timestamp" | "number" }[]; filters: never[];
}`;
let count = 0;
const declare = (type, value) => lines.push(`export const value${count++}: Plain<${type}> = ${JSON.stringify(value)};`);

const files = folders.flatMap((folder) => readdirSync(folder).sort().map((name) => join(folder, name)));
for (const file of files.filter((path) => path.endsWith(".json"))) {
    const dashboard = JSON.parse(readFileSync(file, "utf8"));
    lines.push(`// ${basename(file)}`);
    declare("Dashboard", dashboard);
    for (const panel of dashboard.panels.filter((one) => one.type !== "row")) {
        if (!kinds[panel.type]) throw new Error(`${file}: "${panel.title}" is of the kind ${panel.type}: add it to kinds`);
        for (const target of panel.targets) declare(target.expr ? prometheus : infinity, target);
        declare(`Partial<${kinds[panel.type]}.Options>`, panel.options);
        if (panel.fieldConfig.defaults.custom) declare(`${kinds[panel.type]}.FieldConfig`, panel.fieldConfig.defaults.custom);
    }
}
mkdirSync(join(here, "typed"), { recursive: true });
writeFileSync(join(here, "typed", "dashboards.ts"), lines.join("\n") + "\n");
