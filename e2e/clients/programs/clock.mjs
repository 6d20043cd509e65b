/**
 * Loaded into the server and into clients on Node.js before their own code: a clock that is moved. It
 * starts HOURS_LATER, and each SIGUSR2 is an hour more, which a line of stderr confirms.
 */
const HOUR_MS = 3_600_000;
const now = Date.now;
let hours = Number(process.env.HOURS_LATER ?? 0);
// A second more than an access token lives.
Date.now = () => now() + hours * (HOUR_MS + 1_000);

export function hourLater() {
  hours += 1;
}
process.on("SIGUSR2", () => {
  hourLater();
  process.stderr.write(`${hours} h later\n`);
});
