/** Node-RED replaces `${NAME}` when it deploys, so the value is not known in the editor. */
export function isEnvironment(value: string): boolean {
  return /^\$(?:\{[^}]+\}|\([^)]+\))$/.test(value);
}

/** Whether a check box is checked, or will be, if its value comes from an environment variable. */
export function mayBeTrue(value: string): boolean {
  return value === "true" || isEnvironment(value);
}
