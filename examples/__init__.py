"""What can be done with paretosoc, as scripts; nothing imports them."""
