// `npm run layers`: which source may import which. The rules themselves are in scripts/layer-rules.mjs.
import { FOLDERS, layerRules, STAGES } from "./scripts/layer-rules.mjs";
import { workspaceMembers } from "./scripts/workspace.mjs";

export default {
  forbidden: layerRules({
    members: workspaceMembers().map(({ name }) => name),
    stages: STAGES,
    folders: FOLDERS,
  }),
  options: {
    // Imports of types alone count as well.
    tsPreCompilationDeps: true,
    doNotFollow: { path: ["node_modules", "/dist/"] },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["types", "import", "default"],
      extensions: [".ts", ".tsx", ".mts", ".js", ".mjs", ".json"],
    },
  },
};
