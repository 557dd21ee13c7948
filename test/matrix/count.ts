/** What was counted while one row was tried. */
export interface Count {
  readonly tried: number;
  /** At the socket. */
  readonly requests: number;
  /** Acts of all devices. */
  readonly acts: number;
  /** Calls or messages that have ended, each counted once. */
  readonly ended: number;
  readonly whole: number;
  readonly partial: number;
}

export const nothing: Count = { tried: 0, requests: 0, acts: 0, ended: 0, whole: 0, partial: 0 };

export function add(one: Count, other: Count): Count {
  return {
    tried: one.tried + other.tried,
    requests: one.requests + other.requests,
    acts: one.acts + other.acts,
    ended: one.ended + other.ended,
    whole: one.whole + other.whole,
    partial: one.partial + other.partial,
  };
}
