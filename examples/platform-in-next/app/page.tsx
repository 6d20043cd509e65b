import { findSession, readAccount, VENDORS } from "../platform.ts";

export default async function Home() {
  const session = await findSession();
  if (session === undefined) return <Form action="sign-in" name="user" value="user" />;
  const parts = (["github", "slack"] as const).map(async (vendor) => {
    const tokens = session.tokens.get(vendor);
    const forms = (tokens ? ["refresh", "disconnect"] : ["connect"]).map((action) => (
      <Form key={action} action={action} name="vendor" value={vendor} />
    ));
    return [<p key={vendor}>{tokens ? await readAccount(vendor, tokens) : VENDORS[vendor].name}</p>, ...forms];
  });
  return [<p key="user">{`Signed in as ${session.user}.`}</p>, ...(await Promise.all(parts))];
}

const Form = ({ action, name, value }: { readonly action: string; readonly name: string; readonly value: string }) => (
  <form method="post" action={`/${action}`}>
    <input name={name} defaultValue={value} /> <button>{action}</button>
  </form>
);
