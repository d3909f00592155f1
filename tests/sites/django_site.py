"""Somebody's Django application in one file; it knows nothing of this project."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="not a secret")

urlpatterns = [path("price/<int:cents>/", lambda _request, cents: HttpResponse(f"{cents} ct"))]

application = get_wsgi_application()
