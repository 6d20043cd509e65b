/** The answers of the fixture: the smallest possible image, sound and resources. */

/** One red pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** A header without sound. */
export const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAAAAA=";

export const image = { type: "image", data: PNG, mimeType: "image/png" } as const;

export function resource(uri: string, mimeType: string, text: string) {
  return { type: "resource" as const, resource: { uri, mimeType, text } };
}

export function text(value: string) {
  return { type: "text" as const, text: value };
}

export function answer(value: string) {
  return { content: [text(value)] };
}
