/**
 * The users of the reference platform: samples, chosen from a list. They have no password, and this
 * is not an identity system.
 */

export interface User {
  readonly id: string;
  readonly name: string;
  /** Whether the user may change the settings of connectors. */
  readonly isAdministrator: boolean;
}

export const USERS: readonly User[] = [
  { id: "admin", name: "Administrator", isAdministrator: true },
  { id: "first-user", name: "First user", isAdministrator: false },
  { id: "second-user", name: "Second user", isAdministrator: false },
];

export function findUser(id: string | undefined): User | undefined {
  return USERS.find((user) => user.id === id);
}
