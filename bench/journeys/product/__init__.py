"""The whole product as a person meets it: browser, device, numbers."""
