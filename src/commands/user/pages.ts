const pageSize = 1_000

/** Yields rows page by page, so that a large table fits into memory and no statement takes long. */
export async function* pages<Row>(
  find: (after: Row | undefined, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let page = await find(undefined, pageSize)
  yield page
  while (page.length === pageSize) {
    page = await find(page.at(-1), pageSize)
    yield page
  }
}
