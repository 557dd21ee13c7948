const tries = 3;
/** The name of the warning that tools/test-files.ts reports. */
export const triedAgain = "TriedAgain";

/**
 * Starts a program that tests need and that is not tested, such as a browser or a database server. Where it does not start, it is started
 * again, which the output of the tests says; the third failure is an error that names the program.
 */
export async function severalTries<T>(program: string, start: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await start();
    } catch (error) {
      // The lines below the first one are the program's own log.
      const [reason = ""] = String(error).split("\n");
      if (number === tries) {
        throw new Error(
          `${program} has not started in ${tries} tries, so what needs it was not tested. ${reason}`,
          { cause: error },
        );
      }
      process.emitWarning(`${program} has not started at try ${number} of ${tries}: ${reason}`, triedAgain);
    }
  }
}
