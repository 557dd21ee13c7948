import type { Sentence } from "./sentence.ts";

/** Errors of a store's database in PostgreSQL. */
export const postgres = {
  postgresAddress: {
    code: "ERR_CONFIG",
    text: "“__value__” is not the address of a PostgreSQL database. Write it as postgres://user@host:5432/database.",
    hint: "What is missing in the address comes from the environment: PGHOST, PGPORT, PGUSER and PGDATABASE.",
  },
  postgresPassword: {
    code: "ERR_CONFIG",
    text: "The address of the database contains a password, which others on this computer could read. Remove it from the address, and set the environment variable PGPASSWORD or use a password file.",
    hint: "PGPASSFILE names the password file; otherwise it is .pgpass in the user's home directory.",
  },
  postgresUnreachable: {
    code: "ERR_STORE",
    text: "The database __path__ cannot be reached: __problem__. Check its address, and that the server is running and accepts connections from this computer.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  postgresUnanswered: {
    code: "ERR_STORE",
    text: "The database __path__ has not responded for __seconds__ s. Check its address, the network, and whether the server is overloaded.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  postgresTls: {
    code: "ERR_STORE",
    text: "No secure connection to the database __path__: __problem__. Check the server's certificate. For a private certificate authority, append sslrootcert with the path of its file to the address.",
    hint: "The file contains the certificate of the authority in PEM form.",
    retryable: true,
  },
  postgresMissing: {
    code: "ERR_STORE",
    text: "There is no database __path__. Check its name in the address, or create it on the server.",
    hint: "Only the tables are created automatically.",
    retryable: true,
  },
  postgresLogin: {
    code: "ERR_STORE",
    text: "The database __path__ does not accept the user: __problem__. Check the user name and the password.",
    hint: "The password comes from the environment variable PGPASSWORD, or from a password file.",
    inNode: {
      hint: "If the password is blank in the store, it comes from the environment variable PGPASSWORD, or from a password file.",
    },
  },
  postgresDenied: {
    code: "ERR_STORE",
    text: "The user has too few rights in the database __path__: __problem__. Ask its administrator for them, or to create the schema __name__ and make this user its owner.",
    hint: "The user need not be a superuser.",
  },
  postgresOld: {
    code: "ERR_STORE",
    text: "The server of the database __path__ is PostgreSQL __value__. Use version __least__ or later.",
    hint: "Earlier versions are not maintained any more.",
  },
  postgresSettings: {
    code: "ERR_STORE",
    text: "Settings that a store needs do not arrive at the database __path__: __value__. Something in between, such as a connection pooler, drops them. Connect to PostgreSQL directly, or have its administrator set them for this user.",
    hint: "Without them, what two programs do at the same time could be done twice.",
  },
  postgresNoTables: {
    code: "ERR_STORE",
    text: 'The database __path__ has no tables of a store. Check the address, or make them from the packages: run dimensioner rebuild "folder of the packages" --database "__path__".',
    hint: "The tables are in the schema dimensioner of the database.",
  },
  postgresFailed: {
    code: "ERR_STORE",
    text: "The database __path__ reports an error: __problem__. Nothing was changed. Check the log of its server.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
} as const satisfies Record<string, Sentence>;
