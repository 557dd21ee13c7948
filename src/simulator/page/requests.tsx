import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { mostRequests } from "./simulated.ts";
import type { Request } from "./shapes.ts";
import { clock, surface } from "./words.ts";

interface Outcome {
  readonly words: string;
  readonly kind: "waiting" | "good" | "refused" | "broken" | "fault" | "gone";
}

function outcomeOf({ outcome, statusCode }: Request): Outcome {
  const status = statusCode === undefined ? "" : String(statusCode);
  if (outcome === "pending") {
    return { words: "waits", kind: "waiting" };
  }
  if (outcome.startsWith("fault:")) {
    return { words: `${status} ${outcome.slice("fault:".length)}`.trim(), kind: "fault" };
  }
  if (outcome === "aborted-by-client") {
    return { words: "client gave up", kind: "gone" };
  }
  if (outcome !== "answered") {
    return { words: outcome, kind: "broken" };
  }
  const kind = Number(status) < 400 ? "good" : Number(status) < 500 ? "refused" : "broken";
  return { words: status, kind };
}

function Row({ request }: { readonly request: Request }): VNode {
  const { words, kind } = outcomeOf(request);
  return (
    <li>
      <time>{clock(request.at)}</time>
      <span class="surface" title={surface(request.surface)} data-surface={request.surface}>
        {request.surface}
      </span>
      <span class="what">
        <b>{request.method}</b> <span class="path">{request.path}</span>
        {request.query !== "" && <span class="query">?{request.query}</span>}
      </span>
      <span class="outcome" data-kind={kind}>
        {words}
      </span>
      <span class="took">{request.tookMs !== undefined && `${request.tookMs} ms`}</span>
    </li>
  );
}

/** The list of requests, the latest first. */
export function Requests({ requests }: { readonly requests: readonly Request[] }): VNode {
  const [filter, setFilter] = useState("");
  const shown = requests.filter((request) => filter === "" || request.surface === filter).toReversed();
  const howMany = shown.length === mostRequests ? `the latest ${mostRequests}` : shown.length;
  return (
    <section class="card requests" aria-labelledby="requests-title">
      <div class="head">
        <h2 id="requests-title">Requests</h2>
        <p class="hint" id="request-count">
          {requests.length > 0 && howMany}
        </p>
        <label class="unseen" for="request-filter">
          Show requests to
        </label>
        <select
          id="request-filter"
          value={filter}
          onChange={({ currentTarget }) => setFilter(currentTarget.value)}
        >
          <option value="">all</option>
          <option value="newer">newer device</option>
          <option value="earlier">earlier device</option>
          <option value="cloud">cloud</option>
        </select>
      </div>
      <div class="scroll" id="request-scroll" role="region" aria-label="List of requests" tabIndex={0}>
        {shown.length === 0 && (
          <p class="nothing" id="no-requests">
            Run your flow. Each request to a device or the cloud appears here with its outcome.
          </p>
        )}
        <ol id="requests">
          {shown.map((request) => (
            <Row key={request.id} request={request} />
          ))}
        </ol>
      </div>
    </section>
  );
}
