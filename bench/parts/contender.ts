export interface DownloadSize {
  readonly bytes: number;
  readonly atOnce: number;
  readonly rounds: number;
}

export interface RoundResult {
  readonly seconds: number;
  readonly memoryBytes: number | null;
}

/** Does one round of downloads; throws if it cannot. */
export interface Contender {
  readonly name: string;
  readonly runtime: string | null;
  run(size: DownloadSize, url: string): Promise<RoundResult>;
  stop(): Promise<void>;
}
