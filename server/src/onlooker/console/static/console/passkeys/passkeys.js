// Passkeys. <form data-passkey="create|use"> is sent with what the browser's authenticator answers in `credential`.
// The options are in the page (data-passkey-options: an id), or asked for when they are needed (-options-url).
"use strict";

function describe(error) {
  if (error.name === "NotAllowedError") return gettext("No passkey was used. Try again, or choose another way.");
  if (error.name === "InvalidStateError") return gettext("This device already has a passkey for your account.");
  if (error.name === "SecurityError") return gettext("This browser does not use passkeys at this address.");
  if (error.name === "NotSupportedError")
    return gettext("This device can't create a passkey. Use another device or a security key.");
  return error.message;
}

function bytesOf(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function textOf(buffer) {
  const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const withBytes = (known) => (known ?? []).map((one) => ({ ...one, id: bytesOf(one.id) }));

async function create(options) {
  const credential = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...options.user, id: bytesOf(options.user.id) },
      excludeCredentials: withBytes(options.excludeCredentials),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    },
  });
  const { clientDataJSON, attestationObject } = credential.response;
  return {
    ...common(credential),
    response: {
      clientDataJSON: textOf(clientDataJSON),
      attestationObject: textOf(attestationObject),
      transports: credential.response.getTransports?.() ?? [],
    },
  };
}

async function use(options) {
  const credential = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: bytesOf(options.challenge),
      allowCredentials: withBytes(options.allowCredentials),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return {
    ...common(credential),
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      userHandle: userHandle && textOf(userHandle),
    },
  };
}

function common(credential) {
  const { credProps } = credential.getClientExtensionResults();
  return {
    type: credential.type,
    id: credential.id,
    rawId: textOf(credential.rawId),
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credProps ? { credProps } : {},
  };
}

async function optionsOf(form) {
  const { passkeyOptions, passkeyOptionsUrl } = form.dataset;
  if (passkeyOptions) return JSON.parse(document.getElementById(passkeyOptions).textContent).publicKey;
  const answer = await fetch(passkeyOptionsUrl, { headers: { Accept: "application/json" } });
  if (answer.status === 429) throw new Error(gettext("Too many attempts. Wait a minute, then try again."));
  if (!answer.ok) throw new Error(gettext("The server did not answer. Reload this page, then try again."));
  return (await answer.json()).request_options.publicKey;
}

// Before the form's own handlers: the form is sent a second time, with the answer.
document.addEventListener(
  "submit",
  async (event) => {
    const form = event.target;
    if (!form.dataset.passkey || form.elements.credential.value) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const trouble = form.querySelector("[data-passkey-trouble]");
    trouble.hidden = true;
    try {
      if (!window.PublicKeyCredential)
        throw new Error(gettext("This browser does not support passkeys. Choose another way."));
      const ask = form.dataset.passkey === "create" ? create : use;
      form.elements.credential.value = JSON.stringify(await ask(await optionsOf(form)));
      form.requestSubmit();
    } catch (error) {
      trouble.textContent = describe(error);
      trouble.hidden = false;
    }
  },
  true,
);

// Who comes back to the page starts from the beginning: an answer counts once.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-passkey]")) form.elements.credential.value = "";
});
