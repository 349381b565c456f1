/** A page of a list, and the token of the next one. */
interface Page<Item> {
  readonly data?:
    | {
        readonly items?: readonly Item[] | undefined;
        readonly has_more?: boolean | undefined;
        readonly page_token?: string | undefined;
      }
    | undefined;
}

/** Yields the items of a list, up to a number of pages. */
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
