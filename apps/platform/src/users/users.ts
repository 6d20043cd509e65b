/** The people of a reference platform: samples, chosen from a list. There is no password, and this is no identity system. */

export interface User {
  readonly id: string;
  readonly name: string;
  /** Whether connectors' settings are theirs to change. */
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
