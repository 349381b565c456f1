/** A page of what the API lists, and what the page behind it is asked for with. */
interface Page<Item> {
  readonly data?:
    | {
        readonly items?: readonly Item[] | undefined;
        readonly has_more?: boolean | undefined;
        readonly page_token?: string | undefined;
      }
    | undefined;
}

/** What the API lists, of so many pages at most. */
export async function* listed<Item>(
  pages: number,
  ask: (next: { readonly page_token?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let token: string | undefined;
  for (let page = 0; page < pages; page++) {
    const { data } = await ask(token === undefined ? {} : { page_token: token });
    yield* data?.items ?? [];
    token = data?.has_more === true ? data.page_token : undefined;
    if (token === undefined) return;
  }
}
