"""What is ranked: queries and their documents, sorted, with ties and with rounded scores."""
