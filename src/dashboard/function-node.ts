/** Where Node-RED keeps values between messages: for one node, for a flow, or for all flows. */
interface Context<TValues extends object> {
  get<TName extends keyof TValues>(name: TName): TValues[TName] | undefined;
  set<TName extends keyof TValues>(name: TName, value: TValues[TName]): void;
}

/**
 * What Node-RED gives to the code of a Function node beside the message, as far as the flows of this package use it. The parameters
 * say what the flow, all flows and the node itself keep, and which variables the flow's tab has.
 */
export interface FunctionNode<
  TFlow extends object = object,
  TEnv extends object = object,
  TGlobal extends object = object,
  TNode extends object = object,
> {
  readonly node: {
    status(status: { readonly fill?: string; readonly shape?: string; readonly text: string }): void;
  };
  readonly context: Context<TNode>;
  readonly flow: Context<TFlow>;
  readonly global: Context<TGlobal>;
  readonly env: { get<TName extends keyof TEnv>(name: TName): TEnv[TName] };
  readonly RED: {
    readonly util: { generateId(): string; cloneMessage<TMessage>(message: TMessage): TMessage };
  };
}

/** What Node-RED puts on a message that a Catch node sends, as far as it is used here: the cause is that of this package's errors. */
export interface CaughtError {
  readonly message: string;
  readonly code?: string;
  readonly cause?: { readonly outcome: "not-sent" | "refused" | "failed" | "unknown" | null };
}

/** Replaces each {name} of a text by the text or number with this name. */
export function fill(text: string, values: object): string {
  const all = new Map<string, unknown>(Object.entries(values));
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = all.get(name);
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  });
}
