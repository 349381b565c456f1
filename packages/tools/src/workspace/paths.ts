/** Names that some file system takes for the same. */
export function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/** Whether a path is a folder, or something in it. */
export function inside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
