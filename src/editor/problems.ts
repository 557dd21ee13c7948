import type { Form } from "./form.ts";

interface Checkable {
  readonly _def: {
    readonly defaults: Readonly<
      Record<string, { validate?: (this: object, value: string, options: object) => unknown } | undefined>
    >;
    readonly credentials?: Checkable["_def"]["defaults"];
  };
}

/**
 * Says below each wrong field what is wrong with it. The editor itself says so only in a tooltip, which neither a
 * keyboard nor a screen reader reaches, and on typed inputs not even a mouse.
 */
export function explainProblems(node: object, form: Form): void {
  const { defaults, credentials = {} } = (node as Checkable)._def;
  const checked = Object.entries({ ...defaults, ...credentials }).filter(
    ([property, definition]) => definition?.validate !== undefined && form.field(property).length > 0,
  );
  const explain = () => {
    for (const [property] of checked) {
      tell(form.field(property), checkNow(node, form, property));
    }
  };
  // Also for the types beside the values, and for choices on which others depend.
  form.follow(
    Object.keys({ ...defaults, ...credentials }).filter((property) => form.field(property).length > 0),
    explain,
  );
}

/** What is wrong with what a field holds now; "" where nothing is. */
export function checkNow(node: object, form: Form, property: string): string {
  const { defaults, credentials = {} } = (node as Checkable)._def;
  const definition = defaults[property] ?? credentials[property];
  const verdict = definition?.validate?.call(node, form.value(property), {});
  return typeof verdict === "string" ? verdict : "";
}

function tell(field: JQuery, problem: string): void {
  const id = `${field.attr("id") ?? ""}-problem`;
  const cell = field.closest(".dimensioner-field");
  let line = cell.children(".dimensioner-problem");
  if (line.length === 0) {
    line = $("<div>", { id, class: "dimensioner-problem", role: "status" }).appendTo(cell);
  }
  if (line.text() !== problem) {
    line.text(problem);
  }
  line.toggle(problem !== "");
  const visible = cell.find("input:not([type=hidden]), select").first();
  visible.attr("aria-invalid", problem === "" ? null : "true");
  visible.attr("aria-describedby", problem === "" ? null : id);
}
