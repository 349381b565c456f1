import type { SkillUpload } from "@signalbox/client";

/** A file of a chosen folder. */
interface ChosenFile {
  /** Path inside the folder. */
  path: string;
  file: File;
}

/** A folder that the user has chosen, without its hidden files. */
export interface ChosenFolder {
  name: string;
  files: ChosenFile[];
  bytes: number;
}

/** Returns the folder that contains the chosen files, or undefined if it has none. */
export function toFolder(chosen: readonly File[]): ChosenFolder | undefined {
  const files = chosen
    .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), file }))
    .filter(({ path }) => path !== "" && !path.split("/").some((name) => name.startsWith(".")));
  const name = chosen[0]?.webkitRelativePath.split("/")[0];
  if (name === undefined || files.length === 0) return undefined;
  return { name, files, bytes: files.reduce((sum, { file }) => sum + file.size, 0) };
}

/** Reads the files as Base64. */
export function readFiles(files: readonly ChosenFile[]): Promise<NonNullable<SkillUpload["files"]>> {
  return Promise.all(files.map(async ({ path, file }) => ({ path, data: await readBase64(file) })));
}

export function readBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    // A data URL has the content after its only comma.
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.readAsDataURL(file);
  });
}
