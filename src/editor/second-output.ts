import type { Form } from "./form.ts";
import { shared } from "./texts.ts";

/** Keeps the number of outputs in step with what becomes of failed measurements. */
export function secondOutput(form: Form, properties: readonly string[], wanted: () => boolean): void {
  form.follow(properties, () => {
    form.field("outputs").val(wanted() ? "2" : "1");
  });
}

/** The labels of a node's ports when it measures. */
export function measureOutputLabel(index: number): string {
  return shared(index === 0 ? "port.measurement" : "port.failed");
}
