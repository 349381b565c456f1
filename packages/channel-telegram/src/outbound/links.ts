/** Whether Telegram opens such an address. */
export function opens(url: string): boolean {
  return /^(?:https?|tg):\/\/[^\s]+$/i.test(url) && URL.canParse(url);
}
