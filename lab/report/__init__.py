"""Conclusions as text and pictures: terminal, Markdown, HTML, JSON, SVG."""
