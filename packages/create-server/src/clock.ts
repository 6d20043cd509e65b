/** Measures how long each step took. */

/** @returns seconds since the call before, with one decimal: `0.4 s` */
export function stopwatch(): () => string {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const seconds = (now - last) / 1000;
    last = now;
    return `${seconds.toFixed(1)} s`;
  };
}
