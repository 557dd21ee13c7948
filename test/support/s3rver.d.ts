declare module "@20minutes/s3rver" {
  import type { AddressInfo } from "node:net";

  export default class FakeServer {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    readonly store: {
      listObjects(bucket: string, options: { readonly maxKeys?: number }): Promise<unknown>;
    };
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
