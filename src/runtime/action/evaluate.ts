import type { Node, NodeAPI } from "node-red";
import { problemOf, verbatim, type Problem } from "../../errors/interpolation.ts";
import { show } from "../failure.ts";
import type { Message } from "../messages.ts";

/** Lets Node-RED evaluate a typed value: JSONata, an environment variable, a value of the flow or global context. */
export function evaluateProperty(
  RED: NodeAPI,
  node: Node,
  msg: Message,
  value: string,
  type: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    RED.util.evaluateNodeProperty(value, type, node, msg, (error, found: unknown) => {
      if (error) {
        reject(error);
      } else {
        resolve(found);
      }
    });
  });
}

/** The problem of an expression. JSONata rejects with objects that only look like errors. */
export function expressionProblem(error: unknown): Problem {
  const isWorded =
    typeof error === "object" && error !== null && "message" in error && error.message !== undefined;
  const problem = problemOf(isWorded ? error.message : show(error));
  return "verbatim" in problem ? verbatim(`${problem.verbatim}.`) : problem;
}
