import { reasonOf } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { createIdentityGuard } from "../files/identity-files.ts";
import { getVisibleWorkspace, getWriteClaims } from "../files/places.ts";
import { acquireWriteLock } from "../files/write-lock.ts";
import { hashBytes } from "../hash.ts";
import { createLabelledWorkspace } from "../labels/labelled-workspace.ts";
import { failure, fileFailure, success } from "../result.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentBrowser } from "./types.ts";

/** Creates the tools that list downloads and save one in the workspace. */
export function createDownloadTools({
  browser,
  workspace,
}: {
  readonly browser: AgentBrowser;
  readonly workspace: Workspace;
}): readonly ToolDefinition[] {
  const labelled = createLabelledWorkspace(workspace);
  return [
    defineTool({
      name: "browser_downloads",
      description: "List the files that pages downloaded since the browser started.",
      inputSchema: z.object({}),
      effects: "none",
      taints: "web",
      async run(_call, _context, { record }) {
        const downloads = await browser.listDownloads(record.sessionKey);
        if (downloads.length === 0) return success("There are no downloads.", { downloads: 0 });
        const lines = downloads.map(({ name, bytes }) => `${name} (${bytes} bytes)`);
        return success(lines.join("\n"), { downloads: downloads.length });
      },
    }),
    defineTool({
      name: "browser_save_download",
      description: "Save a downloaded file in the workspace.",
      inputSchema: z.object({
        name: z.string().min(1).max(300).describe("Name from browser_downloads"),
        file_path: z.string().min(1).describe("Path of the new file, such as downloads/report.pdf"),
      }),
      effects: "external",
      taints: "web",
      async claims({ name, file_path: path }, facts) {
        return [
          { kind: "save_download", detail: `${name} → ${path}` },
          ...(await getWriteClaims(workspace, path, facts)),
        ];
      },
      async subject({ name, file_path: path }, { sessionKey }) {
        const bytes = await browser.readDownload(name, sessionKey);
        return {
          action: `save the download ${JSON.stringify(name)} (${bytes.byteLength} bytes) as ${JSON.stringify(path)}`,
          files: [{ path: name, sha256: hashBytes(bytes) }],
        };
      },
      async run({ args: { name, file_path: path } }, { signal }, permit) {
        const { sessionKey } = permit.record;
        let bytes: Uint8Array;
        try {
          bytes = await browser.readDownload(name, sessionKey);
        } catch (error) {
          return failure(reasonOf(error));
        }
        const approved = permit.subject?.files?.[0]?.sha256;
        if (permit.approved && approved !== hashBytes(bytes))
          return failure("The download has changed since it was approved.");
        const release = await acquireWriteLock(workspace, signal, permit.run.facts.role);
        try {
          const visible = getVisibleWorkspace(workspace, permit.run.facts);
          // A person approved that the file is stored, not that its content can be trusted.
          permit.run.taint({ source: "web", detail: name });
          const unapproved = { ...permit, approved: false };
          const written = await visible.writeFile(path, bytes, {
            check: createIdentityGuard(permit),
            before: (place) => labelled.beforeWrite(place, unapproved),
          });
          return success(`Saved ${written} (${bytes.byteLength} bytes).`, {
            path: written,
            bytes: bytes.byteLength,
          });
        } catch (error) {
          return fileFailure(error);
        } finally {
          release();
        }
      },
    }),
  ];
}
