/**
 * The first page, on which the visitor chooses a user. It is not an identity system, and says so.
 */
import type { BindingCookie } from "@oauth-broker/oauth-core/authorization-server";
import { html } from "@oauth-broker/service/page";
import type { User } from "../users/users.ts";
import { form, platformPage } from "./layout.ts";

export function signInPage(users: readonly User[], cookie: BindingCookie): string {
  const buttons = users.map(
    ({ id, name }) => html`<button class="button" type="submit" name="user" value="${id}">${name}</button>`,
  );
  return platformPage({
    title: "Choose a user",
    content: html`<p>This is a reference platform. It has sample users and no passwords: it shows how connectors work, and is not an identity system.</p>
${form("/sign-in", cookie, buttons)}`,
  });
}
