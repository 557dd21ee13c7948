/** Says what is being measured. */
export type Progress = (what: string) => void;

/** Prints each line with the seconds since the start. */
export function printedProgress(): Progress {
  const startedAt = performance.now();
  return (what) => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`${String(seconds).padStart(5)} s  ${what}`);
  };
}
