/** The words of a text: a long column of names on a few lines. */
export const words = (text: string): string[] => text.trim().split(/\s+/);
