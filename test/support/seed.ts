import { configureGlobal } from "fast-check";

/**
 * What random inputs of tests begin with. The same one each time, so that a change is judged by itself and not by luck; each night CI
 * takes another one (`TEST_SEED`, any whole number), and what it finds becomes a test of its own.
 */
export const testSeed = Number(process.env["TEST_SEED"] || 20_261_128) >>> 0;

configureGlobal({ seed: testSeed | 0 });
