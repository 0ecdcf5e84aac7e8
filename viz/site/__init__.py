"""A site of sentences for any static host: pages without a server or a network."""
