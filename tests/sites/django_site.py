"""A small Django application that knows nothing of this project."""

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

settings.configure(
    ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="only for a test", DEBUG=False
)
django.setup()


def item(request, number):
    """Answer the same for the same request."""
    return JsonResponse({"item": number, "q": request.GET.get("q")})


urlpatterns = [path("items/<int:number>", item)]
application = get_wsgi_application()
