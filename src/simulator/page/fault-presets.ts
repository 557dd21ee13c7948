/** A fault of the control API with a name and a hint for people. */
export interface Preset {
  /** Also the name of the rule, by which the page recognizes it. */
  readonly name: string;
  readonly hint: string;
  readonly fault: Readonly<Record<string, unknown>>;
  /** True: applies to connections instead of requests, until it ends or is switched off. */
  readonly connection?: true;
}

const signIn = "<!doctype html><title>Guest network</title><h1>Sign in to continue</h1>";

export const presets: readonly Preset[] = [
  {
    name: "loses the answer",
    hint: "done, then disconnected",
    fault: { kind: "reset", acts: true },
  },
  {
    name: "does not answer",
    hint: "done, but no answer",
    fault: { kind: "silence", acts: true },
  },
  { name: "is slow", hint: "answers after 10 s", fault: { kind: "delay", ms: 10_000 } },
  {
    name: "sends slowly",
    hint: "a few bytes at a time",
    fault: { kind: "drip", bytes: 64, everyMs: 100 },
  },
  {
    name: "breaks off halfway",
    hint: "half of the answer",
    fault: { kind: "cut", atFraction: 0.5 },
  },
  {
    name: "answers 503",
    hint: "busy, does nothing",
    fault: { kind: "status", status: 503 },
  },
  {
    name: "answers 504",
    hint: "done, but too late",
    fault: { kind: "status", status: 504, acts: true },
  },
  {
    name: "answers 429",
    hint: "too many, wait 2 s",
    fault: { kind: "status", status: 429, headers: { "retry-after": "2" } },
  },
  {
    name: "answers 401",
    hint: "not allowed",
    fault: { kind: "status", status: 401 },
  },
  {
    name: "sends a sign-in page",
    hint: "like a guest network",
    fault: { kind: "body", text: signIn, contentType: "text/html", acts: false },
  },
  {
    name: "restarts",
    hint: "gone for 5 seconds",
    fault: { kind: "refuse", forMs: 5000 },
    connection: true,
  },
  {
    name: "is off the network",
    hint: "until switched off",
    fault: { kind: "refuse" },
    connection: true,
  },
];
