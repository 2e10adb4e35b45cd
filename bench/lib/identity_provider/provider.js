// node provider.js CONFIGURATION: an OpenID provider on loopback. People are read from a file with every question,
// so that their groups can change while it runs. Any password is right; nobody is asked for consent.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const { port, issuer, client, people } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

async function findAccount(_, sub) {
  const known = JSON.parse(readFileSync(people, "utf8"))[sub];
  return known && { accountId: sub, claims: async () => ({ sub, ...known }) };
}

async function loadExistingGrant(ctx) {
  const { client, session, provider } = ctx.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope("openid email profile groups");
  await grant.save();
  return grant;
}

const provider = new Provider(issuer, {
  clients: [client],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  cookies: { keys: [randomBytes(16).toString("hex")] },
  features: { devInteractions: { enabled: true } },
  findAccount,
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "first", use: "sig", alg: "RS256" }] },
  loadExistingGrant,
});
provider.listen(port, "127.0.0.1", () => console.log("ready"));
