/** The credentials of one identity. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  /** When temporary credentials end, in milliseconds since 1970; undefined if that is not known. */
  readonly expiresAtMs?: number | undefined;
}

/** The variables of the environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;
