// The order of a suite's files where nothing is known of earlier runs: Vitest begins with the largest, but what takes
// longest are the small parts of proofs, which stand in folders of their own below `test/`.
import { BaseSequencer } from "vitest/node";

export class ProofsFirst extends BaseSequencer {
  async sort(files) {
    const sorted = await super.sort(files);
    const proofs = sorted.filter(({ moduleId }) => /\/test\/[^/]+\//.test(moduleId));
    return [...proofs, ...sorted.filter((file) => !proofs.includes(file))];
  }
}
