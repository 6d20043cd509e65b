/**
 * How a token is refreshed once, whatever process ends meanwhile: the steps, and the matrix of
 * crashes. Part of list.ts.
 */
import { type Requirement, row, STORE, twin } from "./requirement.ts";

const LEASE = `${STORE}/refresh/refresh.test.ts`;
const ATTEMPT = `${STORE}/refresh/attempt.test.ts`;
const COMMIT = `${STORE}/refresh/commit.test.ts`;
const CRASH = `${STORE}/refresh/crash.test.ts`;
const TWIN = `${STORE}/refresh/refresh.twin.test.ts`;

export const REFRESH_PROTOCOL: readonly Requirement[] = [
  row(
    "8.2",
    "Many tokens are due at once. So many refreshes at a time go to one vendor, in order, and all get through.",
    `${STORE}/refresh/gate.test.ts`,
    LEASE,
  ),
  row(
    "8.2-1",
    "A token is read. While it has life it goes out as it is; in the last tenth of its life one caller refreshes ahead, at a second that is spread over tokens.",
    `${STORE}/refresh/due.test.ts`,
    LEASE,
  ),
  twin(
    "8.2-2",
    "Several processes want to refresh one token. One conditional write takes the lease; the others wait for the new version, and then go on with the old token or get a 503.",
    TWIN,
    LEASE,
  ),
  twin(
    "8.2-3",
    "A process is suspended after it took its lease. It checks the time before it calls the vendor, and a lease outlives every request made under it.",
    TWIN,
    ATTEMPT,
  ),
  row(
    "8.2-5",
    "The answer to the write of new tokens is lost. The write is repeated and recognised as our own.",
    COMMIT,
  ),
  row(
    "8.2-6",
    "New tokens cannot be stored. They are kept, sealed in a journal, and written when the store is back, also by the next process.",
    COMMIT,
  ),
  twin(
    "8.2-7",
    "A process wakes up after its lease has ended. Its result is dropped, nothing is revoked, and the row never goes backwards.",
    TWIN,
    `${STORE}/refresh/fence.test.ts`,
  ),
  row("8.2-F1", "The process dies after it read the token. Nothing is lost, and no caller waits.", CRASH),
  row("8.2-F2", "It dies with the lease, before it asks. The next caller succeeds when the lease has ended.", CRASH),
  row(
    "8.2-F3",
    "It dies after the vendor has rotated and before the response arrives. The previous refresh token is tried; if it is no longer valid, the user is asked again.",
    CRASH,
  ),
  row("8.2-F4", "It dies with the answer read. As F3.", CRASH),
  row("8.2-F5", "It dies with the answer sealed. As F3.", CRASH),
  row("8.2-F6", "The answer to its write is lost. The write is recognised, and the vendor was called once.", CRASH),
  row("8.2-F7", "It dies after the write, before its reply. The next caller reads the new token.", CRASH),
  row("8.2-F8", "It dies with half of its reply sent. As F7.", CRASH),
  row("8.2-F9", "It dies with 500 callers waiting. All are answered alike, with two vendor calls at most.", CRASH),
  row(
    "8.2-F10",
    "It is suspended for longer than its lease. Its write is fenced out, and the row never goes back to older tokens.",
    CRASH,
  ),
  row(
    "8.2-F11",
    "Clocks of processes differ. By seconds there is still one call; by minutes nothing is committed twice, and there is an alarm.",
    CRASH,
  ),
  row("8.2-F12", "The process is asked to stop during a refresh. It finishes and commits before it exits.", CRASH),
  row(
    "8.4",
    "A clock is wrong. What a lease says of the time is looked at, and a clock that cannot be right is an alarm.",
    ATTEMPT,
    CRASH,
  ),
];
