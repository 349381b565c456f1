// Before each test file: property tests try the same cases wherever and whenever they run, so that what fails fails
// again. `npm run prove -- properties` has them try others.
import fc from "fast-check";

const seed = Number(process.env.SIGNALBOX_SEED ?? 20_261_121);
if (!Number.isSafeInteger(seed)) throw new Error("SIGNALBOX_SEED has to be a whole number.");
fc.configureGlobal({ seed });
