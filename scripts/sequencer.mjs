// Orders the files of a suite if no earlier durations are known. Vitest starts with the largest files, but the proofs
// take longest, although their files are small.
import { BaseSequencer } from "vitest/node";

export class ProofsFirst extends BaseSequencer {
  async sort(files) {
    const sorted = await super.sort(files);
    const proofs = sorted.filter(({ moduleId }) => /\/test\/proofs\//.test(moduleId));
    return [...proofs, ...sorted.filter((file) => !proofs.includes(file))];
  }
}
