/**
 * A member of a JSON answer that must be text.
 * @throws Error when it is not
 */
export function textMember(members: Readonly<Record<string, unknown>>, name: string): string {
  const value = members[name];
  if (typeof value !== "string") throw new Error(`${name} is no text: ${typeof value}`);
  return value;
}
