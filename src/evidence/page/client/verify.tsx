import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { visibleText } from "../../../rules/visible-text.ts";
import { verifyPackage } from "./api.ts";
import type { Verification } from "./shapes.ts";
import type { Shared } from "./shared.ts";

interface VerifyProps {
  readonly id: string;
  readonly onVerified: (result: Verification) => void;
  readonly shared: Shared;
}

/** Hashes all files of the package again. Until then, the page says that what it shows was not verified. */
export function Verify({ id, onVerified, shared: { words, fail } }: VerifyProps): VNode {
  const [result, setResult] = useState<Verification>();
  const [isRunning, setRunning] = useState(false);

  async function verify(): Promise<void> {
    setRunning(true);
    try {
      const verified = await verifyPackage(id);
      setResult(verified);
      onVerified(verified);
    } catch (error) {
      fail(error);
    } finally {
      setRunning(false);
    }
  }
  function verdict(): string {
    if (isRunning) {
      return words.say("verifying");
    }
    if (result === undefined) {
      return words.say("notVerified");
    }
    const values = {
      at: words.time(result.verifiedAtUtc),
      software: result.software,
      count: result.findingCount,
    };
    return words.say(result.findingCount === 0 ? "verified" : "wrong", values);
  }
  function sayTimestamp(timestamp: Verification["timestamp"]): string {
    if (timestamp === null) {
      return words.say("timestampNone");
    }
    const { atUtc, signer: name, root } = timestamp;
    const values = { at: words.time(atUtc), name };
    return root === null
      ? words.say("timestampUnchecked", values)
      : words.say("timestampChecked", { ...values, root });
  }
  const kind = isRunning || result === undefined ? "none" : result.findingCount === 0 ? "good" : "broken";
  return (
    <section class="verify" aria-labelledby="verify-title">
      <h3 id="verify-title">{words.say("verification")}</h3>
      <p id="verdict" role="status" data-kind={kind}>
        {verdict()}
      </p>
      {!isRunning && result !== undefined && result.findings.length > 0 && (
        <ul>
          {result.findings.map((finding) => (
            <li key={`${finding.path} ${finding.problem}`}>
              <b>{visibleText(finding.path)}</b>: {words.sayFinding(finding)}
            </li>
          ))}
        </ul>
      )}
      {!isRunning && result !== undefined && <p id="timestamp">{sayTimestamp(result.timestamp)}</p>}
      <button type="button" id="verify" aria-disabled={isRunning} onClick={() => !isRunning && void verify()}>
        {words.say("verify")}
      </button>
    </section>
  );
}
