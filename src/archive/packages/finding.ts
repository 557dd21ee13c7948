/** Something that is not as it was archived. */
export interface Finding {
  readonly kind:
    | "begun-twice"
    | "changed"
    | "incomplete"
    | "index"
    | "manifest"
    | "missing"
    | "missing-package"
    | "previous-changed"
    | "previous-missing"
    | "stray"
    | "two-successors"
    | "unlisted"
    | "unreadable";
  /** Below the archive's root, with slashes. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** Something that nothing in the folder can show. */
export interface Unchecked {
  readonly kind: "earlier-packages" | "later-packages" | "no-packages" | "some-packages";
  /** Below the archive's root, with slashes; empty for the root itself. */
  readonly path: string;
  /** A sentence for people. */
  readonly problem: string;
}

/** How far a verification has come. */
export interface Checked {
  packages: number;
  files: number;
  bytes: number;
  incomplete: number;
  /** How many packages the index lists: for a progress bar; null where it does not say. */
  expected: number | null;
}

/** `ok`: all is as it was archived. `wrong`: something is not. `unchecked`: what could be checked is, but not all could be. */
export type Verdict = "ok" | "unchecked" | "wrong";
