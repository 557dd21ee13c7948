import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "@valibot/to-json-schema";
import { type Parcel, calculate, english, explain, unitOf } from "../../src/billing/tariffs/calculate.ts";
import { presets, tableDate } from "../../src/billing/tariffs/presets.ts";
import { type WeightRule, fraction, ruleUnits } from "../../src/billing/tariffs/rule.ts";
import { errorFacts } from "../../src/errors/code-facts.ts";
import { type ErrorCode, errorCodes } from "../../src/errors/codes.ts";
import { type SentenceKey, nodeWordings, sentences } from "../../src/errors/sentences.ts";
import { type DefinitionName, sentMessages, shapes } from "../../src/model/message-schemas.ts";
import { lengthUnits, weightUnits } from "../../src/rules/units.ts";
import { usualNoReads } from "../../src/rules/scans.ts";
import { formats } from "../../src/scan/carriers/formats.ts";
import { release, rows as identifiers } from "../../src/scan/gs1/application-identifiers.ts";
import { uncheckedRules } from "../../src/scan/gs1/table.ts";
import { symbologies } from "../../src/scan/read-code.ts";
import { replacements } from "../../src/scan/separators.ts";
import { mostCharacters } from "../../src/scan/read-scans.ts";
import { preferredElements } from "../../src/scan/reference.ts";
import { messageSchemas } from "./schemas.ts";

// What the pages have between the marks <!-- generated: name --> and <!-- end -->, by page and name.

const code = (value: unknown): string => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
const list = (units: readonly string[]): string =>
  `${units.slice(0, -1).join(", ")} and ${units.at(-1) ?? ""}`;
/** On lines of its own, as Markdown needs a table to be. */
const block = (...lines: readonly string[]): string => `\n\n${lines.join("\n")}\n\n`;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, header.map(() => "---"), ...rows];
  return block(...all.map((cells) => `| ${cells.join(" | ")} |`));
}

export const generated: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "docs/messages.md": { nodes: messagesByNode, objects },
  "docs/errors.md": { codes: errorTable, sentences: errorSections },
  "docs/scan.md": {
    mostCharacters: () => mostCharacters.toLocaleString("en-US"),
    replacements: () => replacements.map(code).join(", "),
    symbologies: () =>
      table(
        ["identifier", "code"],
        symbologies.map(([identifier, name]) => [code(`]${identifier}`), name]),
      ),
    uncheckedRules: () => uncheckedRules.map(code).join(", "),
    noReads: () => code(usualNoReads),
    preferredElements: () => preferredElements.slice(1).join(", "),
    carriers: () =>
      table(
        ["carrier", "format", "check digit"],
        formats.map(({ carrier, service, check }) => [carrier, service, check === undefined ? "–" : "yes"]),
      ),
    release: () => release,
    identifiers: () =>
      table(
        ["identifier", "title", "value"],
        identifiers.map(([ai, flag, format, title]) => [
          `${ai}${flag === "*" ? " \\*" : ""}`,
          title,
          // A format without its rules.
          code(format.replaceAll(/,[\w,]+/g, "")),
        ]),
      ),
  },
  "docs/billable-weight.md": {
    units: () => `Lengths can be in ${list(lengthUnits)}, weights in ${list(weightUnits)}.`,
    tableDate: () => tableDate,
    rules: ruleTable,
    examples: exampleTable,
    limits: limitTable,
  },
};

function messagesByNode(): string {
  const schemas = messageSchemas();
  const propertiesOf = (name: DefinitionName): string => {
    const { properties = {}, required = [] } = schemas[name];
    return Object.entries(properties)
      .map(([property, schema]) => {
        const mark = required.includes(property) ? "" : " (sometimes)";
        return `${code(property)}${mark}: ${typeOf(schema)}`;
      })
      .join("<br>");
  };
  return table(
    ["node", "when", "puts on the message", "schema"],
    sentMessages.map(({ node, when, schema }) => [
      `**${labelOf(node)}**`,
      when,
      propertiesOf(schema),
      schema,
    ]),
  );
}

/** As the palette calls a node. */
function labelOf(node: string): string {
  const path = `../../nodes/${node}/locales/en-US/${node}.json`;
  const { palette } = JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8")) as {
    palette: string;
  };
  return palette;
}

function objects(): string {
  const schemas = messageSchemas();
  const names = [...(Object.keys(shapes) as (keyof typeof shapes)[]), "ErrorObject", "ErrorDetails"] as const;
  return names
    .map((name) => {
      const { description = "", properties = {}, required = [] } = schemas[name];
      const fields = Object.entries(properties).map(([field, schema]) => {
        const { description: meaning = "" } = typeof schema === "object" ? schema : {};
        const type = typeOf(schema) + (required.includes(field) ? "" : ", optional");
        return [code(field), type, meaning.replaceAll("|", "\\|")];
      });
      return block(`## ${name}`, "", description) + table(["field", "type", "meaning"], fields);
    })
    .join("");
}

/** A schema's type as a reader wants it: “string or null”, “list of MediaItem”. */
function typeOf(schema: JsonSchema | boolean): string {
  if (typeof schema === "boolean") {
    return "any";
  }
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace("#/$defs/", "");
    return name === "ErrorCode" ? "one of [its codes](errors.md)" : `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) {
    return code(schema.const);
  }
  if (schema.enum !== undefined) {
    return schema.enum.map(code).join(", ");
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map(typeOf).join(" or ");
  }
  if (schema.type === "array") {
    const { items = true } = schema;
    return `list of ${Array.isArray(items) ? "any" : typeOf(items)}`;
  }
  return [schema.type ?? schema.$comment ?? "any"].flat().join(" or ");
}

function errorTable(): string {
  const rows = errorCodes.map((one) => {
    const { outcomes } = errorFacts[one];
    return [
      `[${one}](#${one.toLowerCase()})`,
      outcomes.length === 0 ? "–" : outcomes.map(code).join(", "),
      whenRetryable(one),
    ];
  });
  return table(["code", "outcome of a command", "retryable"], rows);
}

function whenRetryable(one: ErrorCode): string {
  const ofCode = Object.values(sentences).filter((sentence) => sentence.code === one);
  const passing = new Set(ofCode.map(({ retryable }) => retryable === true));
  if (!passing.has(true)) {
    return "no";
  }
  const { outcomes } = errorFacts[one];
  const unsafe = outcomes.filter((outcome) => outcome === "failed" || outcome === "unknown");
  const who = unsafe.length === outcomes.length ? "reads" : `all but ${unsafe.map(code).join(" and ")}`;
  const parts = [
    ...(unsafe.length > 0 ? [who] : []),
    ...(passing.has(false) ? ["where it may help (↻)"] : []),
  ];
  return parts.length === 0 ? "yes" : parts.join(", ");
}

/** A section for each code, with every text of its sentences as the nodes use them. */
function errorSections(): string {
  return block(
    ...errorCodes.flatMap((one) => {
      const { when, remedy } = errorFacts[one];
      const texts = [...nodeWordings].flatMap(([textKey, { text }]) => {
        const [key = "", variant] = textKey.split("_");
        const sentence = sentences[key as SentenceKey];
        const mark = sentence.retryable === true && variant !== "unknownOutcome" ? " ↻" : "";
        // Its placeholders are in italics.
        return sentence.code === one ? [`- ${text.replace(/__(\w+?)__/g, "_$1_")}${mark}`] : [];
      });
      return ["", `## ${one}`, "", when, "", `**What to do:** ${remedy}`, "", ...texts];
    }),
  );
}

const rules = Object.entries(presets).flatMap(([name, preset]) =>
  preset.rules.map((rule) => ({ name, rule })),
);

function ruleTable(): string {
  const roundings = { none: "–", up: "up", nearest: "nearest" } as const;
  const rows = rules.map(({ name, rule }) => {
    const { length, weight } = ruleUnits[rule.unit];
    return [
      code(rule.id),
      presets[name as keyof typeof presets].name,
      rule.since ?? "–",
      rule.validUntil ?? "–",
      `${rule.divisor} ${length}³/${weight}`,
      roundings[rule.sideRounding],
      rule.productRounding === "0" ? `0.001 ${weight}` : `${rule.productRounding} ${weight}`,
      rule.threshold === "0" ? "–" : `${rule.threshold} ${length}³`,
      rule.isVerified ? rule.source : `${rule.source} (_unverified_)`,
      rule.checked,
    ];
  });
  const header = [
    "rule",
    "carrier",
    "since",
    "until",
    "divisor",
    "sides rounded",
    "weight rounded up to",
    "volume above",
    "source",
    "compared on",
  ];
  return table(header, rows);
}

/** The parcels of the worked examples. */
const parcels: Readonly<
  Record<WeightRule["unit"], readonly [sides: readonly [string, string, string], weight: string]>
> = {
  "in-lb": [["18.4", "12", "9.1"], "3.2"],
  "cm-kg": [["46.5", "30", "23"], "1.4"],
};

function exampleTable(): string {
  const rows = rules.map(({ rule }) => {
    const [[one, two, three], weight] = parcels[rule.unit];
    const units = ruleUnits[rule.unit];
    const parcel: Parcel = {
      sides: [fraction(one), fraction(two), fraction(three)],
      lengthUnit: units.length,
      weight: { value: fraction(weight), unit: units.weight },
    };
    const text = `${one} × ${two} × ${three} ${units.length}, ${weight} ${units.weight}`;
    return [code(rule.id), text, explain(calculate(parcel, rule), english)];
  });
  return table(["rule", "parcel", "billed"], rows);
}

function limitTable(): string {
  const rows = Object.values(presets).flatMap(({ name, surcharges }) =>
    surcharges.flatMap(({ since, source, checked, limits }) =>
      limits.map((limit) => [
        name,
        since ?? "–",
        limit.name,
        `${limit.quantity} > ${limit.limit} ${unitOf(limit)}`,
        limit.minimum === undefined ? "–" : `${limit.minimum.value} ${limit.minimum.unit}`,
        source,
        checked,
      ]),
    ),
  );
  return table(["carrier", "since", "limit", "over", "least weight", "source", "compared on"], rows);
}
