/** Returns true if a path belongs to the chat. */
export function isInChat(pathname: string): boolean {
  return pathname === "/" || pathname.startsWith("/c/");
}
