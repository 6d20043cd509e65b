/** As many flows, refreshes or calls at once as there are lanes, each with the next piece of the work. */

/** Of most runs: connections to one server, or operations at once. */
export const LANES = 32;

/** @param run does one piece of the work on one of the lanes */
export async function inLanes(
  lanes: number,
  count: number,
  run: (lane: number, piece: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async (_: unknown, lane: number): Promise<void> => {
    while (next < count) {
      next += 1;
      await run(lane, next - 1);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
}
