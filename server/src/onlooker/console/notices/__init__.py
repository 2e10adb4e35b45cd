"""What the law asks for, written from each stream's settings: notices, a public page, a record, a draft assessment."""
