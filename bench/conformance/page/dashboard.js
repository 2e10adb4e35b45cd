// A page of another origin that does on the wire what the historic dashboard does: signs in with JSON from the
// browser, keeps the token, reads numbers, and asks for a new token when it is told that the old one has expired.

const GLOBAL = "/api/1/entities?metrics=satisfaction,gender,category,passing_by,interested,stop_time,attention_time";
const HOURS = "/api/1/entities?metrics=passing_by,interested&time=by_hour";
const ACCEPT = "application/json, text/plain, */*";

async function signIn(page) {
  const { username, client_id, access_token } = page.credentials;
  const answer = await fetch(`${page.console}/api-token-authstream/`, {
    method: "POST",
    headers: { Accept: ACCEPT, "Content-Type": "application/json;charset=utf-8" },
    body: JSON.stringify({ username, client_id, access_token }),
  });
  const body = await answer.json();
  if (answer.ok) {
    page.token = body.token;
  } else {
    page.refusals.push(body);
    const shown = body.username ?? body.client_id ?? body.access_token ?? body.non_field_errors[0];
    document.getElementById("error").textContent = shown;
  }
  return answer.status;
}

async function read(page, path, from) {
  const answer = await fetch(`${page.data}${path}&from_date=${from}`, {
    headers: { Accept: ACCEPT, Authorization: `Bearer ${page.token}` },
  });
  return { status: answer.status, body: await answer.json() };
}

// As the dashboard does: once more with a new token where the old one has expired.
async function readAgain(page, path, from) {
  let found = await read(page, path, from);
  page.statuses.push(found.status);
  if (found.status === 401 && found.body.code === "expired_jwt") {
    await signIn(page);
    found = await read(page, path, from);
    page.statuses.push(found.status);
  }
  return found.body;
}

// Everything that a test wants to know of one visit to this page.
async function visit(page) {
  Object.assign(page, { refusals: [], statuses: [] });
  const day = 24 * 3600 * 1000;
  const from = new Date(Date.now() - day).toISOString();
  const told = { signed_in: await signIn(page) };
  if (told.signed_in === 200) {
    page.token = page.expired ?? page.token;
    told.global = await readAgain(page, GLOBAL, from);
    told.hours = await readAgain(page, HOURS, from);
    document.getElementById("passing_by").textContent = told.global.entities.global.passing_by.value;
    const keys = Object.keys(told.hours.entities).map((key) => new Date(key).getTime());
    told.instants = keys.every((at, place) => at % (3600 * 1000) === 0 && (place === 0 || at > keys[place - 1]));
  }
  return { ...told, refusals: page.refusals, statuses: page.statuses, shown: document.body.innerText };
}
